package main

import (
	"context"

	"github.com/Masterminds/squirrel"
	"golang.org/x/sync/errgroup"
)

// nameAll looks up the names of the parts of all orders.
func (p *parts) nameAll(ctx context.Context, orders []order) error {
	ids := make([]int, len(orders))
	for i, o := range orders {
		ids[i] = o.part
	}
	rows, err := p.sql.Select("id", "name").From("products").Where("id = any(?)", ids).QueryContext(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	names := map[int]string{}
	for rows.Next() {
		var id int
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		names[id] = name
	}
	for i := range orders {
		orders[i].Part = names[orders[i].part]
	}
	return rows.Err()
}

// nameEach looks up the names side by side, so that it is quicker.
func (p *parts) nameEach(ctx context.Context, orders []order) error {
	all, ctx := errgroup.WithContext(ctx)
	for i := range orders {
		all.Go(func() error {
			o := &orders[i]
			return p.sql.Select("name").From("products").Where(squirrel.Eq{"id": o.part}).QueryRowContext(ctx).Scan(&o.Part)
		})
	}
	return all.Wait()
}
