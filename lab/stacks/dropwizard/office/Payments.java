package office;

import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;

/** Statements of the bank, each with ninety payments, are read into the books in one transaction. */
@Path("/statements/{id}")
@Produces(MediaType.APPLICATION_JSON)
public class Payments {
    private static final String INSERT = "insert into payments (product_id, amount_cents, receipt) values (:product, :cents, :receipt)";
    private static final int LINES = 90;
    private final Jdbi db;

    Payments(Jdbi db) {
        this.db = db;
    }

    @POST
    public Map<String, Object> book(@PathParam("id") int id) {
        int booked = db.inTransaction(h -> Main.fault("insert-each") ? oneByOne(h, id) : together(h, id));
        return Map.of("statement", id, "booked", booked);
    }

    private static int oneByOne(Handle h, int statement) {
        int booked = 0;
        for (int line = 0; line < LINES; line++) {
            booked += h.createUpdate(INSERT).bind("product", line % 1000).bind("cents", 100 + line).bind("receipt", statement + "/" + line).execute();
        }
        return booked;
    }

    private static int together(Handle h, int statement) {
        PreparedBatch batch = h.prepareBatch(INSERT);
        for (int line = 0; line < LINES; line++) {
            batch.bind("product", line % 1000).bind("cents", 100 + line).bind("receipt", statement + "/" + line).add();
        }
        return batch.execute().length;
    }
}
