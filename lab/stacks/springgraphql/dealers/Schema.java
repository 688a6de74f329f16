package dealers;

import java.util.List;
import java.util.Map;
import org.springframework.boot.autoconfigure.graphql.GraphQlSourceBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.graphql.server.WebGraphQlInterceptor;
import org.springframework.graphql.server.WebGraphQlRequest;
import org.springframework.web.util.UriComponentsBuilder;

/** The schema, and which dealer asks: the gateway in front of the service says so in the query of the URL. */
@Configuration
public class Schema {
    static final String DEALER = "dealer";

    private static final String TEXT = """
        type Query { me: Dealer!, latest: Order, priceList(group: Int!): [Price!]! }
        type Dealer { id: Int!, name: String!, city: String!, orders: [Order!]! }
        type Order { id: Int!, quantity: Int!, totalCents: Int!, status: String!, product: Product! }
        type Product { id: Int!, sku: String!, name: String!, priceCents: Int! }
        type Price { product: Int!, cents: Float! }
        """;

    @Bean
    GraphQlSourceBuilderCustomizer schemaText() {
        return source -> source.schemaResources(new ByteArrayResource(TEXT.getBytes()));
    }

    @Bean
    WebGraphQlInterceptor whoAsks() {
        return (request, chain) -> {
            int dealer = dealerOf(request);
            request.configureExecutionInput((input, builder) -> builder.graphQLContext(Map.of(DEALER, dealer)).build());
            return chain.next(request);
        };
    }

    private static int dealerOf(WebGraphQlRequest request) {
        List<String> named = UriComponentsBuilder.fromUri(request.getUri().toUri()).build().getQueryParams().get(DEALER);
        return named == null ? 0 : Integer.parseInt(named.get(0));
    }
}
