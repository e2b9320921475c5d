package app;

import com.sun.net.httpserver.HttpServer;
import io.seriatim.executor.BadRequestException;
import io.seriatim.executor.Predictor;
import io.seriatim.executor.RunOptions;
import io.seriatim.executor.RunTimeoutException;
import io.seriatim.tensor.Npy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Executors;

/** Answers posted pictures with the scores of their classes, within a second: {@code Serve model.onnx}. */
final class Serve {
    public static void main(String[] args) throws IOException {
        Predictor predictor = Predictor.load(Path.of(args[0]));
        String input = predictor.inputs().getFirst().name();
        predictor.warmUp(Map.of(input, new long[]{1, 1, 28, 28})); // compiled before the first deadline
        HttpServer server = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            int status = 200;
            String answer;
            try (var picture = Npy.read(exchange.getRequestBody())) {
                var scores = predictor.run(Map.of(input, picture),
                        RunOptions.timeout(Duration.ofSeconds(1))).get(predictor.outputs().getFirst().name());
                answer = Arrays.toString(scores.toFloatArray());
            } catch (BadRequestException | IOException | RunTimeoutException e) {
                status = e instanceof RunTimeoutException ? 503 : 400;
                answer = e.getMessage();
            }
            exchange.sendResponseHeaders(status, 0);
            exchange.getResponseBody().write(answer.getBytes());
            exchange.close();
        });
        server.start();
        System.out.println(server.getAddress().getPort());
    }
}
