package shop;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Map;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Transaction;

/** Orders, and the review of what groups of customers have ordered. */
@Path("/")
@Produces(MediaType.APPLICATION_JSON)
public class OrderResource {
    private static final int GROUP = 10;

    private final SessionFactory sessions;

    OrderResource(SessionFactory sessions) {
        this.sessions = sessions;
    }

    @GET
    @Path("orders/{id}")
    public Order order(@PathParam("id") int id) {
        try (Session session = sessions.openSession()) {
            return session.find(Order.class, id);
        }
    }

    /** Sums up the orders of a group of customers. With the fault Hibernate looks for changes in all of them before each query. */
    @GET
    @Path("reviews/{customer}")
    public Map<String, Object> review(@PathParam("customer") int customer) {
        try (Session session = sessions.openSession()) {
            if (!Main.fault("session-flushes")) {
                session.setDefaultReadOnly(true);
                session.setHibernateFlushMode(FlushMode.MANUAL);
            }
            Transaction transaction = session.beginTransaction();
            List<Order> orders = session.createQuery("from Order where customer between :first and :last", Order.class)
                .setParameter("first", customer).setParameter("last", customer + GROUP - 1).list();
            long cents = orders.stream().mapToLong(Order::getCents).sum();
            long stock = 0;
            for (Order order : orders.subList(0, Math.min(25, orders.size()))) {
                stock += session.createQuery("select stock from Product where id = :id", Integer.class).setParameter("id", order.product).getSingleResult();
            }
            transaction.commit();
            return Map.of("orders", orders.size(), "cents", cents, "stock", stock);
        }
    }
}
