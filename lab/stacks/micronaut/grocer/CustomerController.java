package grocer;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import java.sql.SQLException;
import java.util.Map;

@Controller("/customers/{id}")
public class CustomerController {
    private final OrderRepository orders;
    private final StatementCache statements;

    CustomerController(OrderRepository orders, StatementCache statements) {
        this.orders = orders;
        this.statements = statements;
    }

    @Get("/turnover")
    public Map<String, Object> turnover(int id) throws SQLException {
        return Map.of("customer", id, "cents", orders.turnover(id % 1500));
    }

    @Get("/statement")
    public Map<String, Object> statement(int id) throws SQLException {
        Statement statement = statements.of(id % 1500);
        return Map.of("customer", id, "orders", statement.lines().size(), "cents", statement.cents(), "words", statement.words());
    }
}
