"""Tables and figures of the paper (Sec. 4, App. A-C), made from column scans of the results."""
