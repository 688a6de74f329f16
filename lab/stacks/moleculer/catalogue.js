'use strict';

// The catalogue of all tools, with what they cost in each month of a year. It is read once and then kept in the cache.
const MONTHS = 12;

function catalogue(db) {
  return {
    name: 'catalogue',
    actions: {
      all: {
        cache: true,
        bulkhead: { enabled: false },
        async handler() {
          const { rows } = await db.query('select id, sku, name, price_cents, stock from products order by id');
          const tools = {};
          for (const row of rows) {
            const months = Array.from({ length: MONTHS }, (_, month) => ({ month, cents: row.price_cents + month * 10 }));
            tools[row.id] = { ...row, months };
          }
          return tools;
        },
      },
      tool: {
        params: { id: { type: 'number', convert: true } },
        bulkhead: { enabled: false },
        async handler(ctx) {
          const tools = await ctx.call('catalogue.all');
          return tools[ctx.params.id] || null;
        },
      },
    },
  };
}

module.exports = { catalogue };
