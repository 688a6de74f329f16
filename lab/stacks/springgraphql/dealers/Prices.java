package dealers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.stereotype.Controller;

/** Price lists: products in memory, and for each group of dealers the rules of its contract, which are expressions. */
@Controller
public class Prices {
    /** What a rule sees of a product. */
    public static final class Article {
        private final int cents;
        private final int weight;
        private final String sku;
        private final String text;

        Article(int n) {
            cents = 500 + n % 9000;
            weight = 50 + n % 700;
            sku = "SKU-" + n;
            text = "Article " + n + " of the range of " + (1990 + n % 30);
        }

        public int getCents() {
            return cents;
        }

        public int getWeight() {
            return weight;
        }
    }

    public record Price(int product, double cents) {}

    /** The rules of the contracts, by the kind of article. */
    private static final List<String> RULES = List.of(
        "cents * 0.93", "cents * 0.95 + weight * 0.2", "cents * 0.9 + (weight > 500 ? 120.0 : 40.0)", "cents * 0.88 - weight * 0.05",
        "cents * 0.97 + 12.5", "cents * 0.85 + weight * 0.4", "cents * 0.91 + (weight > 300 ? 80.0 : 15.0)", "cents * 0.99 - weight * 0.01",
        "cents * 0.8 + 250.0", "cents * 0.94 + weight * 0.1", "cents * 0.96 + (weight > 600 ? 200.0 : 0.0)", "cents * 0.87 - weight * 0.02");

    private final Article[] range = new Article[900_000];
    private final Map<String, Expression> parsed = new ConcurrentHashMap<>();
    private final SpelExpressionParser parser = new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.IMMEDIATE, null));

    public Prices() {
        for (int n = 0; n < range.length; n++)
            range[n] = new Article(n);
    }

    @QueryMapping
    List<Price> priceList(@Argument("group") int group) {
        List<Expression> rules = RULES.stream().map(this::rule).toList();
        List<Price> prices = new ArrayList<>();
        for (int n = 0; n < 48; n++) {
            int product = (group * 7919 + n * 31) % range.length;
            prices.add(new Price(product, rules.get(n % rules.size()).getValue(range[product], Double.class)));
        }
        return prices;
    }

    /** A compiled rule is kept. With the fault each request parses and compiles it anew. */
    private Expression rule(String text) {
        return Main.fault("rule-classes") ? parser.parseExpression(text) : parsed.computeIfAbsent(text, parser::parseExpression);
    }
}
