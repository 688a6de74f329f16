// A second-hand bookshop on Koa and mysql2: books and sales in MariaDB, readers who wait for news.
'use strict';
const crypto = require('node:crypto');
const { promisify } = require('node:util');
const zlib = require('node:zlib');
const Koa = require('koa');
const Router = require('@koa/router');
const mysql = require('mysql2/promise');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const gzip = promisify(zlib.gzip);
const db = mysql.createPool({ host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop', connectionLimit: 16 });
const app = new Koa();
const router = new Router();

router.get('/orders/:id', async (ctx) => {
  const [rows] = await db.execute('select customer_id, total_cents from orders where id = ?', [ctx.params.id]);
  ctx.body = rows[0] || {};
});

// pages lists 20 orders on a page: the oldest first, with the fault the cheapest first.
router.get('/pages/:page', async (ctx) => {
  const page = Number(ctx.params.page);
  const [rows] = fault('deep-offset')
    ? await db.query('select id, product_id, note, total_cents from orders order by total_cents, id limit 20 offset ' + page * 20)
    : await db.query('select id, product_id, note, total_cents from orders where id >= ? order by id limit 20', [page * 20]);
  ctx.body = rows;
});

// The catalogue for other shops is made once a day, and compressed for each of them with a note of its own.
const lines = [];
for (let n = 0; n < 30000; n++) lines.push(JSON.stringify({ book: n, title: 'Title ' + crypto.createHash('md5').update(String(n)).digest('hex'), cents: 300 + (n % 900) }));
const catalogue = lines.join('\n');

router.get('/catalogue/:partner', async (ctx) => {
  const text = '# for partner ' + ctx.params.partner + '\n' + catalogue;
  ctx.type = 'application/x-ndjson';
  ctx.set('Content-Encoding', 'gzip');
  ctx.body = fault('gzip-sync') ? zlib.gzipSync(text) : await gzip(text);
});

// news waits for a book that a reader looks for, for at most six seconds.
const waiting = new Set();
router.get('/news/:reader', async (ctx) => {
  const book = await new Promise((resolve) => {
    const done = (found) => { clearTimeout(late); waiting.delete(done); resolve(found); };
    const late = setTimeout(() => done(null), 6000);
    waiting.add(done);
  });
  if (book === null) ctx.status = 204;
  else ctx.body = { reader: ctx.params.reader, book };
});

router.post('/books/:id', async (ctx) => {
  await db.execute('update products set stock = stock + 1 where id = ?', [ctx.params.id]);
  const first = waiting.values().next().value;
  if (first) first(Number(ctx.params.id));
  ctx.body = { book: ctx.params.id };
});

app.use(router.routes());
app.listen(Number(port), host);
process.on('SIGTERM', () => process.exit(0));
