package io.seriatim.examples.serve;

import static io.seriatim.tensor.DType.FLOAT32;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PredictionServerTest {
    private static final int THREADS = 4;
    private static final int REQUESTS_PER_THREAD = 25;
    private static final PredictionServer.Limits LIMITS = new PredictionServer.Limits(2_000, 5, 64);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    private static Path folder;
    private static Path model = Path.of("");
    private static PredictionServer server;
    private static HttpClient client;

    @BeforeAll
    static void start() throws IOException {
        model = save(folder.resolve("classifier"));
        server = new PredictionServer(model, ANY_PORT, LIMITS);
        client = HttpClient.newHttpClient();
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
    }

    /** Two layers with parameters drawn at random. */
    private static Path save(Path prefix) throws IOException {
        Network net = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 2, 3);
            return Outputs.of("y", g.linear(g.linear(x.reshape(-1, 6), 16).relu(), 4).softmax(-1));
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(net.startup());
            InferenceModels.save(prefix, net.main(), List.of("x"), List.of(net.outputs().get("y").name()),
                    executor.scope()::find);
        }
        return prefix;
    }

    private static HttpResponse<String> send(HttpRequest.Builder request, String path)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://" + server.address().getHostString() + ":" + server.address().getPort() + path);
        return client.send(request.uri(uri).build(), BodyHandlers.ofString());
    }

    private static HttpResponse<String> predict(String body) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder().POST(BodyPublishers.ofString(body)), "/predict");
    }

    /** Returns the values of an answer. */
    private static float[] values(String json) {
        String list = json.substring(json.indexOf("\"values\":[") + "\"values\":[".length(), json.lastIndexOf(']'));
        List<Float> values = Arrays.stream(list.split(",", -1)).map(Float::valueOf).toList();
        float[] array = new float[values.size()];
        for (int i = 0; i < array.length; i++) {
            array[i] = values.get(i);
        }
        return array;
    }

    @Test
    void allThreadsGetWhatTheInterpreterComputes() throws Exception {
        List<float[]> inputs = new ArrayList<>();
        List<float[]> expected = new ArrayList<>();
        Random random = new Random(1);
        try (InferenceModel loaded = InferenceModels.load(model)) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            loaded.parameters().forEach(interpreter::set);
            for (int i = 0; i < THREADS * REQUESTS_PER_THREAD; i++) {
                float[] input = new float[6 * (1 + i % LIMITS.examples())];
                for (int j = 0; j < input.length; j++) {
                    input[j] = random.nextFloat() - 0.5f;
                }
                inputs.add(input);
                Map<String, Tensor> results = interpreter.run(loaded.program(),
                        Map.of("x", Tensor.of(input, input.length / 6, 2, 3)),
                        loaded.fetches());
                expected.add(results.values().iterator().next().toFloatArray());
            }
        }

        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<HttpResponse<String>>> answers = inputs.stream()
                    .map(input -> threads.submit(() -> predict(json(input)))).toList();
            for (int i = 0; i < inputs.size(); i++) {
                HttpResponse<String> answer = answers.get(i).get();
                assertEquals(200, answer.statusCode(), answer.body());
                assertTrue(answer.body().contains("\"shape\":[" + inputs.get(i).length / 6 + ",4]"), answer.body());
                assertArrayEquals(expected.get(i), values(answer.body()), "request " + i);
            }
        }
    }

    private static String json(float[] input) {
        List<String> examples = new ArrayList<>();
        for (int from = 0; from < input.length; from += 6) {
            examples.add("[" + row(input, from) + ", " + row(input, from + 3) + "]");
        }
        return examples.stream().collect(Collectors.joining(",\n", "[", "]"));
    }

    private static String row(float[] input, int from) {
        return "[" + input[from] + "," + input[from + 1] + "," + input[from + 2] + "]";
    }

    @Test
    void aPlainListIsOneExample() throws Exception {
        HttpResponse<String> plain = predict(" 1, 2,3,-4,5e-1,6\n");
        assertEquals(200, plain.statusCode(), plain.body());
        assertEquals(plain.body(), predict("[[1,2,3,-4,0.5,6]]").body());
        assertEquals(plain.body(), predict("[1,2,3,-4,0.5,6]").body());
        assertEquals(List.of("application/json"), plain.headers().allValues("Content-Type"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0',
            textBlock = """
                    1,2,3                | an example has 6 numbers, of shape [2, 3], but number 0 has 3
                    [[1,2,3,4,5,6],[7]]  | an example has 6 numbers, of shape [2, 3], but number 1 has 1
                    [1,2,3,4,5,x]        | send numbers as 1,2,3 or [[1,2,3],[4,5,6]]: at character 11 there should be a number, but there is 'x'
                    [[1,2,3,4,5,6]       | send numbers as 1,2,3 or [[1,2,3],[4,5,6]]: at character 14 there should be ']', but there is the end
                    [1,2,3,4,5,6] 7      | send numbers as 1,2,3 or [[1,2,3],[4,5,6]]: at character 14 there should be the end, but there is '7'
                    1,2,3,4,5,6e39       | 6e39 is too large for a float32
                    1,2,3,4,5,NaN        | send numbers as 1,2,3 or [[1,2,3],[4,5,6]]: at character 11 there should be a number, but there is 'N'
                    [[[[[[[[[[[1         | arrays are nested in at most 8 others
                    [[1],[2],[3],[4],[5],[6]] | a request has 1 to 5 examples, but this one has 6
                    """)
    void badInputIsOneClearLine(String body, String message) throws Exception {
        HttpResponse<String> answer = predict(body);
        assertEquals(400, answer.statusCode());
        assertEquals("{\"error\":\"" + message + "\"}", answer.body());
    }

    @Test
    void nothingIsBadInputToo() throws Exception {
        assertEquals(400, predict("").statusCode());
    }

    @Test
    void tooMuchIsRefused() throws Exception {
        HttpResponse<String> answer = predict("1".repeat(LIMITS.bodyBytes() + 1));
        assertEquals(413, answer.statusCode());
        assertEquals("{\"error\":\"a request has at most 2000 bytes\"}", answer.body());
    }

    /**
     * More than the socket buffers hold: if the server stopped reading, the connection would be reset before the answer
     * is read.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void muchTooMuchIsRefusedWithAnAnswer(boolean lengthIsSaid) throws Exception {
        byte[] body = new byte[3_000_000];
        Arrays.fill(body, (byte) '1');
        for (int i = 0; i < 10; i++) {
            HttpResponse<String> answer = send(HttpRequest.newBuilder()
                    .POST(lengthIsSaid
                            ? BodyPublishers.ofByteArray(body)
                            : BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))),
                    "/predict");
            assertEquals(413, answer.statusCode());
        }
        assertEquals(200, predict("1,2,3,4,5,6").statusCode());
    }

    /**
     * The first request has declared its length but not been sent; the second one would need more memory than is left.
     */
    @Test
    void requestsBeyondTheMemoryAreRefused() throws Exception {
        PredictionServer.Limits small = new PredictionServer.Limits(1 << 20, 5, 64, 1 << 20);
        try (PredictionServer full = new PredictionServer(model, ANY_PORT, small);
                Socket socket = new Socket(full.address().getAddress(), full.address().getPort());
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII))) {
            write(socket, "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
            while (full.freeBytes() > 100_000) {
                Thread.onSpinWait();
            }
            URI uri = URI
                    .create("http://" + full.address().getHostString() + ":" + full.address().getPort() + "/predict");
            for (int i = 0; i < 20; i++) {
                HttpResponse<String> second = client.send(
                        HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString("1,2,3,4,5,6" + " ".repeat(500_000)))
                                .build(),
                        BodyHandlers.ofString());
                assertEquals(503, second.statusCode());
                assertTrue(
                        second.body().startsWith("{\"error\":\"the requests that are being answered take all memory"),
                        second::body);
            }
            HttpResponse<String> tiny = client.send(
                    HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString("1,2,3,4,5,6")).build(),
                    BodyHandlers.ofString());
            assertEquals(200, tiny.statusCode());
            write(socket, "1,2,3,4,5,6" + " ".repeat(1_000_000 - 11));
            assertEquals("HTTP/1.1 200 OK", status(in));
        }
    }

    /**
     * Also after clients that disconnected during a request, and with connections that are kept open. The limit of a
     * second allows for a slow machine; a wait for requests that never end would take ten.
     */
    @Test
    void anIdleServerStopsAtOnce() throws Exception {
        PredictionServer idle = new PredictionServer(model, ANY_PORT, LIMITS);
        for (String part : List.of("POST /pre",
                "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n1,2",
                "POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1")) {
            try (Socket socket = new Socket(idle.address().getAddress(), idle.address().getPort())) {
                write(socket, part);
            }
        }
        URI uri = URI.create("http://" + idle.address().getHostString() + ":" + idle.address().getPort() + "/health");
        assertEquals(200, client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).statusCode());
        long begin = System.nanoTime();
        idle.close();
        long millis = (System.nanoTime() - begin) / 1_000_000;
        assertTrue(millis < 5_000, millis + " ms");
        assertFalse(listens(idle.address()));
    }

    @Test
    void healthIsThereAndOtherThingsAreNot() throws Exception {
        HttpResponse<String> health = send(HttpRequest.newBuilder().GET(), "/health");
        assertEquals(200, health.statusCode());
        assertEquals("{\"status\":\"ready\",\"input\":\"x: float32 [2, 3], up to 5 examples\"}", health.body());
        assertEquals(404, send(HttpRequest.newBuilder().GET(), "/predictions").statusCode());
        HttpResponse<String> get = send(HttpRequest.newBuilder().GET(), "/predict");
        assertEquals(405, get.statusCode());
        assertEquals(List.of("POST"), get.headers().allValues("Allow"));
    }

    /** The request has started when its head has been read, which the server acknowledges by requesting the rest. */
    @Test
    void requestsThatHaveBegunAreAnsweredWhenItStops() throws Exception {
        PredictionServer stopping = new PredictionServer(model, ANY_PORT, LIMITS);
        try (Socket socket = new Socket(stopping.address().getAddress(), stopping.address().getPort());
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII))) {
            write(socket,
                    "POST /predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
            assertEquals("HTTP/1.1 100 Continue", status(in));
            Thread closing = Thread.ofVirtual().start(stopping::close);
            while (listens(stopping.address())) {
                Thread.onSpinWait();
            }
            write(socket, "1,2,3,4,5,6");
            assertEquals("HTTP/1.1 200 OK", status(in));
            closing.join();
        }
    }

    private static String status(BufferedReader in) {
        return in.lines().filter(line -> line.startsWith("HTTP/")).findFirst().orElse("the connection was closed");
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(US_ASCII));
    }

    private static boolean listens(InetSocketAddress address) throws IOException {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            return socket.isConnected();
        } catch (ConnectException e) {
            return false;
        }
    }

    @Test
    void aModelThatItCannotServeIsRefused() throws IOException {
        Network net = Network
                .define(g -> Outputs.of("z", g.data("a", FLOAT32, -1, 2).plus(g.data("b", FLOAT32, -1, 2))));
        Path prefix = folder.resolve("sum");
        InferenceModels.save(prefix, net.main(), List.of("a", "b"), List.of(net.outputs().get("z").name()), _ -> null);
        String message = String
                .valueOf(assertThrows(IllegalArgumentException.class, () -> Predictor.load(prefix, 1)).getMessage());
        assertTrue(
                message.startsWith("This server is for models with one input of float32 [-1, …], but the inputs are ["),
                message);
    }
}
