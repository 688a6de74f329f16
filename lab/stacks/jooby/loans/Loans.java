package loans;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import org.jdbi.v3.core.Jdbi;

/** Loans. A copy is taken out of the shelf, and the gate of the branch is told to let it pass, in one transaction. */
class Loans {
    /** Labels of old copies are in capitals, and scanners read what they like. */
    private static final String ANY_CASE = "update copies set reader = :reader where lower(barcode) = lower(:barcode)";
    private static final String AS_STORED = "update copies set reader = :reader where barcode = :barcode";

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Jdbi jdbi;

    Loans(Jdbi jdbi) {
        this.jdbi = jdbi;
    }

    Map<String, Object> lend(String barcode, int reader) throws Exception {
        return jdbi.inTransaction(handle -> {
            int copies = handle.createUpdate(Main.fault("unindexed-lock") ? ANY_CASE : AS_STORED).bind("reader", reader).bind("barcode", barcode).execute();
            String gate = openGate(barcode);
            handle.createUpdate("insert into loans (barcode, reader, gate) values (:barcode, :reader, :gate)")
                .bind("barcode", barcode).bind("reader", reader).bind("gate", gate).execute();
            return Map.of("barcode", barcode, "copies", copies);
        });
    }

    private String openGate(String barcode) throws IOException, InterruptedException {
        URI at = URI.create("http://" + System.getenv("ADDR_GATES") + "/open/" + barcode);
        return client.send(HttpRequest.newBuilder(at).timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofString()).body();
    }
}
