package edge;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Asks the accounts who it is that wants a seat. */
@Component
class Account implements GlobalFilter, Ordered {
    private final String accounts = "http://" + System.getenv("ADDR_ACCOUNTS");
    private final HttpClient blocking = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final WebClient client = WebClient.create(accounts);

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        String path = exchange.getRequest().getPath().value();
        if (!path.startsWith("/seats/")) {
            return chain.filter(exchange);
        }
        String who = path.substring(path.lastIndexOf('/') + 1);
        if (Main.fault("blocking-filter")) {
            return chain.filter(with(exchange, ask(who)));
        }
        return client.get().uri("/accounts/" + who).retrieve().bodyToMono(String.class).flatMap(account -> chain.filter(with(exchange, account)));
    }

    private static ServerWebExchange with(ServerWebExchange exchange, String account) {
        return exchange.mutate().request(request -> request.header("X-Account", account)).build();
    }

    private String ask(String who) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(accounts + "/accounts/" + who)).timeout(Duration.ofSeconds(20)).build();
        try {
            return blocking.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            throw new ResponseStatusException(HttpStatus.BAD_GATEWAY, "no account", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE + 10;
    }
}
