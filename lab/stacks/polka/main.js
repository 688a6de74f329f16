// Labels and lists of a wholesaler on Polka, Piscina and pg: articles in PostgreSQL, printers over HTTP.
'use strict';
const path = require('node:path');
const polka = require('polka');
const Piscina = require('piscina');
const { Pool } = require('pg');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const db = new Pool({ host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop', max: 12 });

// Labels are drawn and printed by workers, one label each at a time.
const threads = fault('few-workers') ? 2 : 8;
const labels = new Piscina({ filename: path.join(__dirname, 'label.js'), minThreads: threads, maxThreads: threads });

// The list of all articles, with the terms of each.
const list = { edition: 1, articles: [] };
for (let n = 0; n < 14000; n++) {
  list.articles.push({ sku: 'A-' + n, name: 'Article ' + n, cents: 200 + (n % 7000), terms: { packs: [1, 6, 24], days: n % 30, returns: n % 2 === 0 } });
}

// offer has the article as a partner pays for it; the list stays as it is.
function offer(partner, n) {
  const i = n % list.articles.length;
  const article = fault('deep-copy') ? JSON.parse(JSON.stringify(list)).articles[i] : { ...list.articles[i], terms: { ...list.articles[i].terms } };
  article.cents = Math.round(article.cents * (0.8 + (partner % 10) / 100));
  article.terms.days = 14;
  return article;
}

const send = (res, found) => {
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify(found));
};

const app = polka({
  onError: (err, req, res) => {
    console.error(req.url, err);
    res.statusCode = 503;
    res.end('{}');
  },
});

app.get('/orders/:id', async (req, res, next) => {
  try {
    const { rows } = await db.query({ name: 'order', text: 'select id, quantity, total_cents, status from orders where id = $1', values: [req.params.id] });
    send(res, rows[0] || {});
  } catch (err) {
    next(err);
  }
});

app.get('/offers/:partner/:article', (req, res) => send(res, offer(Number(req.params.partner), Number(req.params.article))));

app.post('/labels/:id', async (req, res, next) => {
  try {
    send(res, await labels.run({ order: Number(req.params.id), printer: process.env.ADDR_PRINTER }));
  } catch (err) {
    next(err);
  }
});

// Each three seconds the list gets a number of edition, and its size is noted.
let articles = 0;
setInterval(() => {
  list.edition++;
  articles = list.articles.length;
}, 3000);

app.get('/edition', (req, res) => send(res, { edition: list.edition, articles }));

const listening = app.listen(Number(port), host);
process.on('SIGTERM', () => {
  listening.server.close();
  process.exit(0);
});
