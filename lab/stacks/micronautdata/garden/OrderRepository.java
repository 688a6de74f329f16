package garden;

import io.micronaut.data.annotation.Query;
import io.micronaut.data.jdbc.annotation.JdbcRepository;
import io.micronaut.data.model.query.builder.sql.Dialect;
import io.micronaut.data.repository.CrudRepository;
import java.util.List;

@JdbcRepository(dialect = Dialect.POSTGRES)
public interface OrderRepository extends CrudRepository<PlacedOrder, Integer> {
    @Query("select * from orders where customer_id = :customer order by id desc limit 60")
    List<PlacedOrder> latestOf(int customer);

    @Query("select o.id, p.name as plant, o.total_cents as cents from orders o join products p on p.id = o.product_id where o.customer_id = :customer order by o.id desc limit 60")
    List<OrderLine> latestLinesOf(int customer);

    @Query("select coalesce(sum(total_cents), 0)::bigint from orders")
    long turnover();
}
