'use strict';
const fs = require('node:fs/promises');
const path = require('node:path');
const { promisify } = require('node:util');
const zlib = require('node:zlib');

const brotli = promisify(zlib.brotliCompress);
const file = (id) => path.join(process.cwd(), 'plan-' + (id % 40) + '.txt');

// write makes the plans of 40 stages, of some kilobytes each.
exports.write = async () => {
  for (let n = 0; n < 40; n++) {
    const lines = Array.from({ length: 400 }, (_, row) => `row ${row}: ${'+-x|'.repeat(10)} beam ${(row * 7919 + n) % 997}, cable ${(row * 104729) % (n + 31)}`);
    await fs.writeFile(file(n), lines.join('\n'));
  }
};

exports.read = (id) => fs.readFile(file(id), 'utf8');

// archive packs the plans of eight stages for the insurer, as small as it gets.
exports.archive = async (id) => {
  const texts = await Promise.all(Array.from({ length: 8 }, (_, n) => fs.readFile(file(id + n))));
  const packed = await brotli(Buffer.concat(texts), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } });
  return packed.length;
};
