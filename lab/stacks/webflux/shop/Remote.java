package shop;

import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.net.InetSocketAddress;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** What the shop asks others: a payment provider, and a stock of another company that is found by its name. */
@Component
class Remote {
    private final WebClient payments = WebClient.builder().baseUrl("http://" + System.getenv("ADDR_PAYMENTS"))
        .clientConnector(new ReactorClientHttpConnector(HttpClient.create(ConnectionProvider.create("payments", 100)))).build();
    private final WebClient stock;

    Remote() {
        String[] names = System.getenv("ADDR_NAMES").split(":");
        InetSocketAddress server = new InetSocketAddress(names[0], Integer.parseInt(names[1]));
        // Which of its hosts answers is told by the name server call by call, so that no connection is kept.
        HttpClient http = HttpClient.create(ConnectionProvider.newConnection()).resolver(spec -> spec
            .resolvedAddressTypes(ResolvedAddressTypes.IPV4_ONLY)
            .dnsAddressResolverGroupProvider(builder -> new DnsAddressResolverGroup(builder.nameServerProvider(new SingletonDnsServerAddressStreamProvider(server)))));
        String port = System.getenv("ADDR_STOCK").split(":")[1];
        stock = WebClient.builder().baseUrl("http://stock.warehouse.example:" + port).clientConnector(new ReactorClientHttpConnector(http)).build();
    }

    Mono<String> pay(int product) {
        return payments.post().uri("/charge/{product}", product).retrieve().bodyToMono(String.class);
    }

    Mono<String> stock(int product) {
        return stock.get().uri("/stock/{product}", product).retrieve().bodyToMono(String.class);
    }
}
