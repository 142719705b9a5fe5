"""This library's worlds in the protocols of others, and gymnax's worlds in this one's.

Each module here needs one library, and imports it: `gymnax`, `gymnasium`, `dm_env`. Nothing else in the package imports them.
"""
