'use strict';

const fault = (name) => process.env.FAULT === name;

// The catalogue for partners, who each have a discount: its first page, or with the fault all of it.
const items = Array.from({ length: 24000 }, (_, n) => ({
  item: n,
  name: ['lamp', 'truss', 'cable', 'console', 'speaker', 'curtain'][n % 6] + ' ' + n,
  cents: 900 + ((n * 37) % 90000),
  kilos: 2 + (n % 80),
  stores: [n % 7, (n + 3) % 7],
}));
const page = 60;

exports.forPartner = (id) => {
  const discount = 0.7 + (id % 25) / 100;
  const wanted = fault('whole-catalogue') ? items : items.slice((id % 400) * page, (id % 400 + 1) * page);
  return wanted.map((item) => ({ ...item, cents: Math.round(item.cents * discount), from: new Date(1.7e12 + item.item * 1000).toISOString() }));
};
