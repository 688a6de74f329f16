package shop;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The pricing team's consumer: it asks the supplier for each request and publishes what he says. */
class Pricing {
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final KafkaProducer<String, String> producer = new KafkaProducer<>(Main.kafka(), new StringSerializer(), new StringSerializer());
    private final ExecutorService workers = Executors.newFixedThreadPool(24, task -> new Thread(task, "pricing-worker"));
    private final CountDownLatch assigned = new CountDownLatch(1);
    private final String supplier;

    Pricing(String supplier) {
        this.supplier = supplier;
    }

    void start() throws InterruptedException {
        Thread thread = new Thread(this::consume, "pricing-consumer");
        thread.setDaemon(true);
        thread.start();
        assigned.await();
    }

    private void consume() {
        Properties settings = Main.kafka();
        settings.put(ConsumerConfig.GROUP_ID_CONFIG, "pricing");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(Quotes.REQUESTS), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsRevoked(java.util.Collection<TopicPartition> partitions) {
                    // The next owner begins at the offset that was committed.
                }

                @Override
                public void onPartitionsAssigned(java.util.Collection<TopicPartition> partitions) {
                    assigned.countDown();
                }
            });
            while (true) {
                for (ConsumerRecord<String, String> request : consumer.poll(Duration.ofSeconds(1))) {
                    if (Main.fault("one-consumer")) {
                        answer(request);
                    } else {
                        workers.execute(() -> answer(request));
                    }
                }
            }
        }
    }

    private void answer(ConsumerRecord<String, String> request) {
        String quote;
        try {
            HttpRequest asked = HttpRequest.newBuilder(URI.create("http://" + supplier + "/quote/" + request.value())).timeout(Duration.ofSeconds(10)).build();
            quote = http.send(asked, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            quote = "no quote: " + e.getMessage();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        producer.send(new ProducerRecord<>(Quotes.REPLIES, request.key(), quote));
    }
}
