package io.seriatim.benchmarks.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** The peers are shell scripts here. */
@EnabledIf("hasShell")
class PeerTest {
    private static final String SHELL = "/bin/sh";
    private static final String TRAINED =
            "RESULT\tDJL-PyTorch\tT1\t2\tmedian_ms=5.160\tp10=4.9\tsamples_s=24806\tfirst_s=1.30\tloss=2.3>0.1\trss_warm=260\thwm=271\tcores=1.02";

    @TempDir
    private Path folder;

    static boolean hasShell() {
        return Files.isExecutable(Path.of(SHELL)) && Files.isExecutable(Path.of("/bin/bash"));
    }

    private void script(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.resolveSibling("."));
        Files.writeString(file, text);
    }

    private PythonPeer python(String text) throws IOException {
        script("python/torch_bench.py", text);
        return new PythonPeer("torch", SHELL, folder.resolve("python"), "torch_bench.py", "set SOMETHING");
    }

    @Test
    void aPythonPeerPrintsFigures() throws Exception {
        PythonPeer peer = python(
                "echo warning >&2; echo '{\"lib\": \"torch\", \"work\": \"'$2'\", \"threads\": '$1'}'");
        assertEquals("[{\"lib\": \"torch\", \"work\": \"mlp\", \"threads\": 2}]", peer.run(TrainWork.T1, 2).toString());
        assertTrue(peer.does(TrainWork.T7));
        assertFalse(peer.does(TrainWork.T4));
    }

    @Test
    void aPythonPeerSaysWhyItCannot() throws IOException {
        assertTrue(message(python("echo out; echo first >&2; echo No module named torch >&2; exit 1"))
                .endsWith("torch_bench.py 1 mlp' ended with 1: No module named torch; set SOMETHING"));
        assertTrue(message(python("echo only this; exit 3")).contains("ended with 3: only this; "));
        assertTrue(message(python("exit 0")).contains("printed no figures"));
        Path missing = folder.resolve("no-python");
        assertTrue(
                message(new PythonPeer("torch", missing.toString(), folder, "torch_bench.py", "set SOMETHING"))
                        .contains("cannot be run"));
    }

    private static String message(Peer peer) {
        return String
                .valueOf(assertThrows(PeerUnavailableException.class, () -> peer.run(TrainWork.T1, 1)).getMessage());
    }

    @Test
    void linesOfAPeerInJavaGetTheFormOfOurs() {
        JvmPeer peer = new JvmPeer("djl", "djl", folder);
        assertEquals(
                "[{\"lib\": \"djl\", \"work\": \"mlp\", \"threads\": 2, \"median_ms\": 5.160, \"first_step_s\": "
                        + "1.300, \"rss_mb\": 271.000}]",
                peer.parse("WARNING: x\n" + TRAINED + "\n", "mlp", 2).toString());
        assertEquals(
                "[{\"lib\": \"djl\", \"work\": \"infer_mlp\", \"threads\": 1, \"median_us\": 96.100, \"p99_us\": "
                        + "232.700}]",
                peer.parse("\u001b[0mRESULT\tONNX Runtime\tT5mlp\t1\tmedian_us=96.1\tp99_us=232.7\tout=-0.8,2.6",
                        "infer_mlp", 1)
                        .toString());
        assertEquals(List.of(), peer.parse("nothing", "mlp", 1));
    }

    @Test
    void aPeerInJavaIsRunForEachPart() throws Exception {
        script("jvm/run.sh",
                "printf 'RESULT\\t%s\\t%s\\t%s\\tmedian_us=9.5\\n' $1 $2 $3; test -x \"$JAVA_HOME/bin/java\"");
        List<Figures> figures = new JvmPeer("ort", "onnxruntime", folder.resolve("jvm")).run(TrainWork.T5, 2);
        assertEquals(List.of("infer_lenet", "infer_mlp"), figures.stream().map(each -> each.text("work")).toList());
        assertEquals(9.5, figures.getFirst().time());
    }

    @Test
    void onlyWhatIsThereAndHasItsVariableIsRun() throws IOException {
        List<String> notices = new ArrayList<>();
        assertEquals(List.of(), Peer.in(folder, _ -> "python", notices::add));
        assertEquals(List.of(), notices);
        script("python/torch_bench.py", "");
        script("python/paddle_bench.py", "");
        script("jvm/run.sh", "");
        List<Peer> peers = Peer.in(folder, name -> name.equals("SERIATIM_PEER_PYTHON") ? "python" : null, notices::add);
        assertEquals(List.of("torch", "tensorflow", "djl", "ort"), peers.stream().map(Peer::name).toList());
        assertEquals(List.of("paddle is left out: set SERIATIM_PEER_PADDLE_PYTHON to a Python that has paddlepaddle"),
                notices);
        assertTrue(peers.getLast().does(TrainWork.T5));
        assertFalse(peers.getLast().does(TrainWork.T1));
        assertTrue(peers.get(1).does(TrainWork.T4));
        assertFalse(peers.get(1).does(TrainWork.T6));
    }
}
