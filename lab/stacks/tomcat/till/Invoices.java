package till;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Invoices are numbered without a gap, and signed by the device that the tax office asks for. */
class Invoices extends HttpServlet {
    private static final long serialVersionUID = 1;
    private final transient DataSource db;

    Invoices(DataSource db) {
        this.db = db;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        int article = Main.id(request);
        try (Connection one = db.getConnection()) {
            one.setAutoCommit(false);
            try {
                long number;
                String signature;
                if (Main.fault("counter-row")) {
                    number = nextNumber(one);
                    signature = sign(article);
                } else {
                    signature = sign(article);
                    number = nextNumber(one);
                }
                store(one, number, article, signature);
                one.commit();
                response.setContentType("application/json");
                response.getWriter().printf("{\"invoice\":%d}%n", number);
            } finally {
                one.rollback(); // nothing is left to roll back after a commit
                one.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw new ServletException(e);
        }
    }

    private static long nextNumber(Connection one) throws SQLException {
        try (PreparedStatement next = one.prepareStatement("update counters set value = value + 1 where name = 'invoice'");
                PreparedStatement read = one.prepareStatement("select value from counters where name = 'invoice'")) {
            next.executeUpdate();
            try (ResultSet rows = read.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }

    private static void store(Connection one, long number, int article, String signature) throws SQLException {
        try (PreparedStatement insert = one.prepareStatement("insert into invoices values (?, ?, ?, ?)")) {
            insert.setLong(1, number);
            insert.setInt(2, article);
            insert.setInt(3, 100 + article);
            insert.setString(4, signature);
            insert.executeUpdate();
        }
    }

    private static String sign(int article) throws IOException {
        HttpURLConnection device = (HttpURLConnection) new URL("http://" + System.getenv("ADDR_SIGNER") + "/sign/" + article).openConnection();
        device.setReadTimeout(15_000);
        return new String(device.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
