package io.seriatim.cli.demo;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The serial program: a loop. Compare {@link EngineProgram}. */
final class SerialProgram {
    private SerialProgram() {
    }

    static Result run(List<Group> groups) throws IOException {
        Result result = new Result();
        for (Group group : groups) {
            List<byte[]> files = Steps.read(group);
            String hash = Steps.hash(files);
            result.list(hash);
            byte[] packed = Steps.compress(files);
            result.append(packed);
            Map<String, Integer> mentions = Steps.mentions(files);
            result.merge(mentions);
        }
        return result;
    }
}
