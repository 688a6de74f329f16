'use strict';
const { createElement: h } = require('react');
const { renderToString } = require('react-dom/server');

function Screening({ screening, day }) {
  return h('tr', { className: screening.day === day ? 'shown' : 'hidden', id: 'screening-' + screening.id },
    h('td', null, screening.at),
    h('td', null, h('a', { href: '/films/' + encodeURIComponent(screening.film) }, screening.film)),
    h('td', null, screening.house),
    h('td', { className: screening.seats > 100 ? 'many' : 'few' }, screening.seats, ' seats'),
    h('td', null, h('form', { method: 'post', action: '/bookings/' + screening.id }, h('button', { type: 'submit' }, 'Book'))));
}

function Programme({ day, screenings }) {
  return h('html', { lang: 'en' },
    h('head', null, h('title', null, 'Programme of day ', day + 1), h('meta', { name: 'viewport', content: 'width=device-width' }), h('link', { rel: 'stylesheet', href: '/festival.css' })),
    h('body', null,
      h('header', null, h('h1', null, 'Film festival'), h('nav', null, ['Programme', 'Films', 'Houses', 'Tickets'].map((name) => h('a', { key: name, href: '/' + name.toLowerCase() }, name)))),
      h('main', null, h('table', null, h('tbody', null, screenings.map((screening) => h(Screening, { key: screening.id, screening, day })))))));
}

exports.renderProgramme = (day, screenings) => '<!doctype html>' + renderToString(h(Programme, { day, screenings }));
