module ssdlab.dev/crash

go 1.22
