'use strict';

// Training plans of all members, which stay in memory: some 35 MB.
const exercises = ['row', 'press', 'squat', 'plank', 'lunge', 'pull', 'step', 'curl'];
const plans = Array.from({ length: 72000 }, (_, n) => ({
  id: n,
  member: n % 8000,
  weeks: Array.from({ length: 8 }, (_, week) => ({ week, exercise: exercises[(n + week) % 8], kilos: 10 + ((n * 7 + week) % 80) })),
}));

// ofGroup returns the hardest day of the plans of twelve members, for which all of their days are written out, which
// needs some memory for a moment.
exports.ofGroup = (id) => Array.from({ length: 12 }, (_, n) => hardestDay(plans[(id * 12 + n) % plans.length]));

function hardestDay(plan) {
  const days = [];
  for (const { week, exercise, kilos } of plan.weeks) {
    for (let day = 0; day < 7; day++) days.push({ day: week * 7 + day, text: `${exercise} with ${kilos + day} kg`, sets: [12, 10, 8, 6].map((times) => ({ times, kilos: kilos + day })) });
  }
  days.sort((a, b) => b.sets[0].kilos - a.sets[0].kilos);
  return { id: plan.id, ...days[0] };
}
