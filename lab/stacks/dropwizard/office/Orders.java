package office;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.StatementContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Path("/")
@Produces(MediaType.APPLICATION_JSON)
public class Orders {
    private static final Logger LOG = LoggerFactory.getLogger(Orders.class);
    private final Jdbi db;

    /** A line of the export. */
    public record Order(int id, int customer, int product, int quantity, long cents, String reference, String note, Map<String, String> links) {
        static Order of(ResultSet row, StatementContext context) throws SQLException {
            int id = row.getInt("id");
            int customer = row.getInt("customer_id");
            Map<String, String> links = Map.of("self", "/orders/" + id, "customer", "/customers/" + customer, "invoice", "/invoices/" + row.getString("reference"));
            return new Order(id, customer, row.getInt("product_id"), row.getInt("quantity"), row.getLong("total_cents"), row.getString("reference"), row.getString("note"), links);
        }
    }

    Orders(Jdbi db) {
        this.db = db;
    }

    @GET
    @Path("orders/{id}")
    public Map<String, Object> order(@PathParam("id") int id) {
        return db.withHandle(h -> h.createQuery("select id, total_cents, reference from orders where id = :id").bind("id", id).mapToMap().findOne())
            .orElseThrow(NotFoundException::new);
    }

    /** Orders from one on: a page of them, or all of a quarter. */
    @GET
    @Path("exports/{from}")
    public List<Order> export(@PathParam("from") int from) {
        int count = Main.fault("big-json") ? 8_000 : 100;
        return db.withHandle(h -> h.createQuery("select * from orders where id >= :from order by id limit :count")
            .bind("from", from * 100).bind("count", count).map(Order::of).list());
    }

    /** Each step of an audit is logged, as the auditor wants it. */
    @GET
    @Path("audits/{id}")
    public Map<String, Object> audit(@PathParam("id") int id) {
        Map<String, Object> order = order(id);
        for (int step = 1; step <= 15; step++) {
            LOG.info("audit step {} of order {}: {} was compared with the ledger of the year and with the bank's statement, no difference, nothing to be booked", step, id, order);
        }
        return order;
    }
}
