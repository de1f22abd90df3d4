"""The live page: the running trial, the runs of a folder, two of them compared, and all of them as a matrix."""
