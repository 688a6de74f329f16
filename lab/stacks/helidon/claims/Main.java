package claims;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The claims of an insurer on Helidon, with a virtual thread for each request: policies in memory, assessors and an archive over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int POLICIES = 120_000;

    record Policy(int id, String holder, String street, Map<String, Integer> covers) {
        static Policy of(int id) {
            return new Policy(id, "Holder " + id, id % 90 + " Mill Road", Map.of("fire", 1000 + id, "flood", 2000 + id % 7, "theft", id % 900));
        }
    }

    private final List<Policy> policies = IntStream.range(0, POLICIES).mapToObj(Policy::of).toList();
    private final Assessors assessors = new Assessors();
    private final Statements statements = new Statements();

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        Main main = new Main();
        String[] at = System.getenv("ADDR").split(":");
        WebServer.builder().host(at[0]).port(Integer.parseInt(at[1])).routing(routes -> routes
            .get("/policies/{id}", (request, response) -> send(response, JSON.writeValueAsBytes(main.policy(request))))
            .get("/claims/{id}", (request, response) -> send(response, main.assessors.assess(main.policy(request).id())))
            .get("/statements/{id}", (request, response) -> main.statements.write(main.policy(request), response))
        ).build().start();
    }

    private Policy policy(ServerRequest request) {
        return policies.get(Integer.parseInt(request.path().pathParameters().get("id")) % POLICIES);
    }

    private static void send(ServerResponse response, byte[] body) throws IOException {
        response.header("Content-Type", "application/json").send(body);
    }
}
