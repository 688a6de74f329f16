// The board of the workshop: what was done by city, which PostgreSQL adds up, kept in Redis.
'use strict';
const Redis = require('ioredis').default ?? require('ioredis');

const kept = 2; // seconds

exports.openBoard = async (knex, address) => {
  const [host, port] = address.split(':');
  const redis = new Redis({ host, port: Number(port) });

  const addUp = () =>
    knex('orders as o').join('customers as c', 'c.id', 'o.customer_id').select('c.city', 'o.status').count('* as jobs').sum('o.total_cents as cents').where('o.id', '>', 150000).groupBy('c.city', 'o.status');

  if (process.env.FAULT !== 'board-expires') { // a job keeps the board fresh
    const refresh = async () => redis.set('board', JSON.stringify(await addUp()));
    await refresh();
    setInterval(refresh, kept * 1000);
  }
  return {
    show: async () => {
      const known = await redis.get('board');
      if (known) {
        return JSON.parse(known);
      }
      const fresh = await addUp();
      await redis.set('board', JSON.stringify(fresh), 'EX', kept);
      return fresh;
    },
  };
};
