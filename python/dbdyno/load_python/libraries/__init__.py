"""The client libraries, one file each: a logical operation as a person would write it with that library."""
