"""`make bench`: dbdyno-load beside other load generators and the least a client can do, as ratios of one run."""
