package desk;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.http.client.config.RequestConfig;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

/** The hub of the carriers, who answer over HTTP. */
class Carriers {
    private final CloseableHttpClient http = HttpClients.custom().setMaxConnTotal(200).setMaxConnPerRoute(200)
        .setDefaultRequestConfig(RequestConfig.custom().setConnectTimeout(2_000).setSocketTimeout(15_000).build()).build();
    private final String address;

    Carriers(String address) {
        this.address = address;
    }

    String get(String path) {
        try (CloseableHttpResponse answer = http.execute(new HttpGet("http://" + address + path))) {
            return EntityUtils.toString(answer.getEntity());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
