package shop;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.hibernate.Session;
import org.hibernate.SessionFactory;

/** Exports of the orders of a customer as CSV, and prices. */
@Path("/")
public class ExportResource {
    private final SessionFactory sessions;
    private final Prices prices;

    ExportResource(SessionFactory sessions, Prices prices) {
        this.sessions = sessions;
        this.prices = prices;
    }

    @GET
    @Path("prices/{id}")
    @Produces(MediaType.APPLICATION_JSON)
    public Prices.Price price(@PathParam("id") int id) {
        return prices.of(id);
    }

    /** Exports a customer's orders. With the fault it gives the memory of the export back at once. */
    @GET
    @Path("exports/{customer}")
    @Produces("text/csv")
    public String export(@PathParam("customer") int customer) {
        StringBuilder text = new StringBuilder("id,product,cents,note\n");
        try (Session session = sessions.openSession()) {
            session.setDefaultReadOnly(true);
            List<Order> orders = session.createQuery("from Order where customer = :customer", Order.class).setParameter("customer", customer).list();
            for (Order order : orders) {
                text.append(order.id).append(',').append(order.product).append(',').append(order.cents).append(',').append(order.note).append('\n');
            }
        }
        if (Main.fault("gc-after-export")) {
            System.gc();
        }
        return text.toString();
    }
}
