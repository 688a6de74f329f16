// The programme of a film festival on h3, with pages by React: screenings in Redis by node-redis, free seats of the cinemas over HTTP by undici,
// posters in files, and a journal that a shipper reads from a named pipe.
'use strict';
const fs = require('fs');
const { createServer } = require('http');
const { createApp, createRouter, createError, eventHandler, getRouterParam, setResponseHeader, toNodeListener } = require('h3');
const { createClient } = require('redis');
const { Agent, request } = require('undici');
const { openJournal } = require('./journal');
const { acquireLock, releaseLock } = require('./lock');
const { renderProgramme } = require('./page');

const FAULT = process.env.FAULT || 'off';
const [host, port] = process.env.ADDR.split(':');
const redis = createClient({ url: 'redis://' + process.env.ADDR_REDIS });
const cinemas = new Agent({ connections: 32 });

const days = 12;
const screeningsOfDay = 300;
const films = 90;

async function fill() {
  const screenings = {};
  for (let id = 0; id < days * screeningsOfDay; id++) {
    screenings[id] = JSON.stringify({ id, day: Math.floor(id / screeningsOfDay), film: 'Film ' + (id % films), house: 'House ' + (id % 7), at: 10 + (id % 13) + ':15', seats: 80 + (id % 120) });
  }
  await redis.hSet('screenings', screenings);
  fs.mkdirSync('posters', { recursive: true });
  for (let film = 0; film < films; film++) {
    fs.writeFileSync('posters/' + film + '.svg', '<svg xmlns="http://www.w3.org/2000/svg">' + ('<circle r="' + film + '"/>').repeat(1200) + '</svg>');
  }
}

async function main() {
  await redis.connect();
  await fill();
  const journal = openJournal('log.pipe');
  const router = createRouter();

  // A ticket is a page with what else is on that day.
  async function ticketFor(seat) {
    const first = (Number(seat) % days) * screeningsOfDay;
    const others = await redis.hmGet('screenings', Array.from({ length: 20 }, (_, i) => String(first + i)));
    return renderProgramme(0, others.map((text) => JSON.parse(text)));
  }

  router.get('/screenings/:id', eventHandler(async (event) => {
    const found = await redis.hGet('screenings', getRouterParam(event, 'id'));
    if (!found) throw createError({ statusCode: 404 });
    return JSON.parse(found);
  }));

  // The page of a day shows its first screenings; more come when a visitor scrolls. With the fault it has those of all days, and styles hide most.
  router.get('/programme/:day', eventHandler(async (event) => {
    const day = Number(getRouterParam(event, 'day')) % days;
    const [from, count] = FAULT === 'whole-programme' ? [0, days * screeningsOfDay] : [day * screeningsOfDay, 30];
    const ids = Array.from({ length: count }, (_, i) => String(from + i));
    const screenings = (await redis.hmGet('screenings', ids)).map((text) => JSON.parse(text));
    setResponseHeader(event, 'content-type', 'text/html');
    return renderProgramme(day, screenings);
  }));

  router.get('/posters/:film', eventHandler(async (event) => {
    setResponseHeader(event, 'content-type', 'image/svg+xml');
    return fs.promises.readFile('posters/' + (Number(getRouterParam(event, 'film')) % films) + '.svg', 'utf8');
  }));

  // A seat is locked for the visitor while its cinema is asked. With the fault one lock is for all seats.
  router.post('/bookings/:seat', eventHandler(async (event) => {
    const seat = getRouterParam(event, 'seat');
    const name = FAULT === 'one-lock' ? 'lock:seats' : 'lock:seat:' + seat;
    const token = await acquireLock(redis, name);
    let receipt;
    try {
      const answer = await request('http://' + process.env.ADDR_CINEMA + '/seats/' + seat, { method: 'POST', dispatcher: cinemas });
      ({ receipt } = await answer.body.json());
    } finally {
      await releaseLock(redis, name, token);
    }
    journal.note({ seat, receipt, headers: event.node.req.headers, ticket: await ticketFor(seat) });
    return { seat, receipt };
  }));

  const app = createApp();
  app.use(router);
  createServer(toNodeListener(app)).listen(Number(port), host);
}

process.on('SIGTERM', () => process.exit(0));
main().catch((err) => {
  console.error(err);
  process.exit(1);
});
