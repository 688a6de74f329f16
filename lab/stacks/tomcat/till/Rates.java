package till;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Rates of exchange, asked of the bank over HTTPS. */
class Rates extends HttpServlet {
    private static final long serialVersionUID = 1;
    private transient HttpClient kept;

    @Override
    public void init() throws ServletException {
        try {
            kept = client();
        } catch (GeneralSecurityException | IOException e) {
            throw new ServletException(e);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        try {
            HttpClient http = Main.fault("client-each") ? client() : kept;
            HttpRequest rate = HttpRequest.newBuilder(URI.create("https://" + System.getenv("ADDR_BANK") + "/rates/" + Main.id(request))).timeout(Duration.ofSeconds(15)).build();
            String body = http.send(rate, HttpResponse.BodyHandlers.ofString()).body();
            response.setContentType("application/json");
            response.getWriter().println(body);
        } catch (GeneralSecurityException e) {
            throw new ServletException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServletException(e);
        }
    }

    /** A client that trusts the bank alone. */
    private static HttpClient client() throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream pem = Files.newInputStream(Path.of("bank.pem"))) {
            trusted.setCertificateEntry("bank", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(tls).build();
    }
}
