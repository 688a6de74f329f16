'use strict';
const fs = require('fs');

// openJournal opens a journal in which a line is noted for each booking. The caller does not wait for the write.
exports.openJournal = function openJournal(name) {
  const file = fs.openSync(name, 'w');
  return {
    note(entry) {
      const line = JSON.stringify({ at: new Date().toISOString(), ...entry }) + '\n';
      fs.write(file, line, (err) => {
        if (err) console.error('journal:', err.message);
      });
    },
  };
};
