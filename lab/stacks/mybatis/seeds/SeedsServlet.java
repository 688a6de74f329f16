package seeds;

import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Lots, what is on a shelf, and sales at the price that the exchange says. */
public class SeedsServlet extends HttpServlet {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final transient SessionFilter sessions;
    private final transient Exchange exchange;

    SeedsServlet(SessionFilter sessions, Exchange exchange) {
        this.sessions = sessions;
        this.exchange = exchange;
    }

    private Lots lots(HttpServletRequest request) {
        return sessions.of(request).getMapper(Lots.class);
    }

    private static int number(HttpServletRequest request) {
        return Integer.parseInt(request.getPathInfo().substring(1));
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        switch (request.getServletPath()) {
            case "/lots" -> send(response, lots(request).find(number(request) % 60_000));
            case "/shelves" -> send(response, summary(lots(request).onShelf(number(request) % 300)));
            default -> response.sendError(HttpServletResponse.SC_NOT_FOUND);
        }
    }

    /** Sells a lot. With the fault the session stays open while the exchange is asked. */
    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Lot lot = lots(request).find(number(request) % 60_000);
        if (!Main.fault("session-in-view")) {
            SessionFilter.close(request);
        }
        String price = exchange.priceOf(lot);
        lots(request).sell(lot.id, price);
        send(response, Map.of("lot", lot.id, "price", price));
    }

    private static Map<String, Object> summary(List<Lot> found) {
        return Map.of(
            "lots", found.size(),
            "grams", found.stream().mapToInt(lot -> lot.findings.grams).sum(),
            "countries", found.stream().map(lot -> lot.findings.origin.country).distinct().count());
    }

    private static void send(HttpServletResponse response, Object found) throws IOException {
        response.setContentType("application/json");
        JSON.writeValue(response.getOutputStream(), found);
    }
}
