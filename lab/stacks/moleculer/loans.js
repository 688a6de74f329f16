'use strict';

// Tools that are not in the house are lent from another company, who says what that costs.
function loans(lender) {
  return {
    name: 'loans',
    actions: {
      lend: {
        params: { id: { type: 'number', convert: true } },
        async handler(ctx) {
          const { data } = await lender.get('/lend/' + ctx.params.id);
          return { tool: ctx.params.id, receipt: data.receipt, cents: data.cents };
        },
      },
    },
  };
}

module.exports = { loans };
