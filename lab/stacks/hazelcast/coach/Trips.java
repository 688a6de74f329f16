package coach;

import com.hazelcast.map.IMap;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** What is known of a trip. */
class Trips extends HttpServlet {
    private final transient IMap<Integer, Trip> trips;

    Trips(IMap<Integer, Trip> trips) {
        this.trips = trips;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Trip trip = trips.get(Orders.last(request));
        if (trip == null) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        Orders.answer(response, trip.json());
    }
}
