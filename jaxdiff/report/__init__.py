"""One world measured, in numbers, as a dataset and as a page for a paper's appendix."""
