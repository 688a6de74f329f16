"""Prints a label as the program of the printer's maker does, which waits for the device."""
import sys
import time

time.sleep(0.17)
print(f"picture {sys.argv[1]}: please do not touch")
