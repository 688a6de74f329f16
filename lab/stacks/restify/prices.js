// Prices of parts in Redis: one field for each part, with the fault one list of all in one value.
'use strict';
const Redis = require('ioredis').default ?? require('ioredis');

const parts = 80000;
const fault = process.env.FAULT === 'one-list';

const price = (id) => ({ part: `P-${id}`, name: `part ${id} of the maker's catalogue`, cents: 100 + ((id * 37) % 90000), weight: (id * 13) % 4000, shelf: `row ${id % 70}`, replaced_by: id % 9 ? null : `P-${id + 1}` });

exports.openPrices = async (address) => {
  const [host, port] = address.split(':');
  const redis = new Redis({ host, port: Number(port) });
  for (let from = 0; from < parts; from += 5000) {
    await redis.hset('prices', Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [from + n, JSON.stringify(price(from + n))])));
  }
  await redis.set('price-list', JSON.stringify(Array.from({ length: parts }, (_, id) => price(id))));
  return {
    find: async (id) => {
      if (fault) {
        const list = JSON.parse(await redis.get('price-list'));
        return list.find((one) => one.part === `P-${id % parts}`);
      }
      return JSON.parse(await redis.hget('prices', id % parts));
    },
  };
};
