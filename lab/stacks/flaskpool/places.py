"""A register of places, which each process reads when it starts."""
import hashlib


class Places:
    def __init__(self):
        self.by_number = {}
        for number in range(400_000):
            code = hashlib.sha1(b"place %d" % number).hexdigest()
            self.by_number[number] = {"code": code[:8], "north": 47 + int(code[8:12], 16) / 65536, "east": 6 + int(code[12:16], 16) / 16384}

    def near(self, number):
        return [self.by_number[(number * 7919 + step) % len(self.by_number)] for step in range(5)]
