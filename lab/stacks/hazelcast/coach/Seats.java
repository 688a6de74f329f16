package coach;

import com.hazelcast.map.EntryProcessor;
import com.hazelcast.map.IMap;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serializable;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;

/** Seats of a trip, which its operator confirms. */
class Seats extends HttpServlet {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final String OPERATOR = "http://" + System.getenv("ADDR_OPERATOR") + "/confirm/";

    private final transient IMap<Integer, Trip> trips;

    Seats(IMap<Integer, Trip> trips) {
        this.trips = trips;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int trip = Orders.last(request);
        String receipt;
        if (Main.fault("call-in-processor")) {
            receipt = trips.executeOnKey(trip, new ConfirmAndTake());
        } else {
            receipt = confirm(trip);
            trips.executeOnKey(trip, new Take());
        }
        Orders.answer(response, receipt);
    }

    /** Asks the operator for the seat. */
    static String confirm(int trip) {
        try {
            return CLIENT.send(HttpRequest.newBuilder(URI.create(OPERATOR + trip)).build(), HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Takes a seat, on the thread of the trip's partition. */
    static class Take implements EntryProcessor<Integer, Trip, String>, Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public String process(Map.Entry<Integer, Trip> entry) {
            Trip trip = entry.getValue();
            trip.takeSeat();
            entry.setValue(trip);
            return "";
        }
    }

    /** Takes a seat that the operator confirms, so that nobody else gets it meanwhile. */
    static class ConfirmAndTake extends Take {
        private static final long serialVersionUID = 1L;

        @Override
        public String process(Map.Entry<Integer, Trip> entry) {
            String receipt = confirm(entry.getKey());
            super.process(entry);
            return receipt;
        }
    }
}
