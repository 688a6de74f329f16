package coach;

import com.hazelcast.map.IMap;
import com.hazelcast.query.Predicates;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.stream.Collectors;

/** The trips that leave from a stop. */
class Departures extends HttpServlet {
    private final transient IMap<Integer, Trip> trips;

    Departures(IMap<Integer, Trip> trips) {
        this.trips = trips;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        var found = trips.values(Predicates.equal("stop", "stop-" + Orders.last(request)));
        Orders.answer(response, found.stream().map(Trip::json).collect(Collectors.joining(",", "[", "]")));
    }
}
