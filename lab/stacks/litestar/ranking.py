"""The ranking of 120,000 flats, which a task makes anew again and again."""

import asyncio

FLATS = 120_000
SLICE = 1500


class Ranking:
    def __init__(self, on_loop):
        self.on_loop = on_loop
        self.scores = [0.0] * FLATS
        self.turn = 0

    def of(self, flat):
        return self.scores[flat % FLATS]

    async def keep(self):
        """Makes the ranking each two seconds. Between slices of the flats it lets the event loop go on; with the fault it does not."""
        while True:
            self.turn += 1
            scores = []
            for start in range(0, FLATS, SLICE):
                scores.extend(self.score(flat) for flat in range(start, min(start + SLICE, FLATS)))
                if not self.on_loop:
                    await asyncio.sleep(0.004)
            self.scores = scores
            await asyncio.sleep(2)

    def score(self, flat):
        stars, far, loud = flat % 6, (flat * 7919 + self.turn) % 900, (flat * 104729) % 70
        return round(stars * 20 + (900 - far) / 9 - loud / 7 + (flat ^ self.turn) % 13, 3)
