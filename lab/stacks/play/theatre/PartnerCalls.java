package theatre;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import play.libs.Json;

/** Calls of the libraries that halls and printers gave to the theatres, which block a thread until they have an answer. */
final class PartnerCalls {
    private static final int PATIENCE = 20_000;

    private PartnerCalls() {
    }

    static JsonNode call(String method, String url) {
        try {
            HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
            connection.setRequestMethod(method);
            connection.setReadTimeout(PATIENCE);
            try (InputStream answer = connection.getInputStream()) {
                return Json.parse(answer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
