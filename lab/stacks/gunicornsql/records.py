"""Visits and animals in MariaDB. The chip of an animal is a text of digits, as there are some with a nought at the front."""
import os

from sqlalchemy import create_engine, text

FAULT = os.environ.get("FAULT", "off")


class Records:
    def __init__(self):
        self.engine = create_engine(f"mysql+pymysql://shop@{os.environ['ADDR_DB']}/shop", pool_size=16, max_overflow=4, pool_pre_ping=True)

    def _rows(self, query, **values):
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(text(query), values).mappings()]

    def visit(self, number):
        return self._rows("select id, animal_id, cents, reason from visits where id = :id", id=number % 120000)

    def visits_of(self, animal):
        return self._rows("select id, cents, reason from visits where animal_id = :animal order by id desc limit 25", animal=animal % 200000)

    def animal_of_chip(self, chip):
        """The chip is compared as text, with the fault as the number that the scanner sends."""
        value = chip if FAULT == "chip-as-number" else str(chip)
        return self._rows("select id, name, species from animals where chip = :chip", chip=value)

    def count_drafts(self):
        return self._rows("select count(*) as drafts from visits where id < 100 and reason = 'draft'")

    def turnover(self):
        return self._rows("select reason, sum(cents) as cents from visits group by reason")
