// Which bindings fit to boots: a hash in Redis with a field for each boot, and the same as one document of some MB, as the maker sends it.
'use strict';

const boots = 16000;

class Fittings {
  constructor(redis) {
    this.redis = redis;
  }

  async fill() {
    const all = {};
    for (let n = 0; n < boots; n++) {
      all[`boot-${n}`] = { boot: n, sole: 280 + (n % 60), bindings: Array.from({ length: 6 }, (_, k) => ({ model: `binding ${(n * 7 + k) % 400}`, din: 3 + ((n + k) % 9) })) };
    }
    const fields = Object.entries(all).map(([boot, fitting]) => [boot, JSON.stringify(fitting)]);
    for (let from = 0; from < fields.length; from += 1000) {
      await this.redis.hset('fittings', fields.slice(from, from + 1000).flat());
    }
    await this.redis.set('fittings:document', JSON.stringify(all));
  }

  // The fitting of a boot, of its field; with the fault of the whole document.
  async find(boot) {
    const name = `boot-${boot % boots}`;
    if (process.env.FAULT === 'whole-document') {
      const all = JSON.parse(await this.redis.get('fittings:document'));
      return all[name];
    }
    return JSON.parse(await this.redis.hget('fittings', name));
  }
}

module.exports = { Fittings };
