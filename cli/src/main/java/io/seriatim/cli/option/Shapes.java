package io.seriatim.cli.option;

import io.seriatim.graph.format.LoadOptions;
import io.seriatim.tensor.Shape;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Options {@code --shape NAME=D,D…} and {@code --inference}. */
public final class Shapes {
    private static final String OPTION = "--shape";

    private Shapes() {
    }

    /**
     * Reads dimensions.
     *
     * @param name
     *            the name of the feed
     * @param text
     *            the dimensions, between commas or x; none for a scalar
     * @return the dimensions
     * @throws IllegalArgumentException
     *             if they are not numbers from 0 on
     */
    public static long[] parsed(String name, String text) {
        try {
            long[] dims = text.isEmpty()
                    ? new long[0]
                    : Stream.of(text.split("[,x]", -1)).mapToLong(part -> Long.parseLong(part.strip())).toArray();
            Shape.of(dims).size();
            return dims;
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    OPTION + " " + name + "=" + text + " must be dimensions from 0 on, such as 1,3,224,224", e);
        }
    }

    /**
     * Collects the options of a command that loads a model.
     *
     * @param command
     *            the command line that was parsed, for errors
     * @param inference
     *            whether {@code --inference} was given
     * @param shapes
     *            the texts of {@code --shape} by feed
     * @return how to load the model
     * @throws ParameterException
     *             if a shape is not one, or is given twice
     */
    public static LoadOptions options(CommandLine command, boolean inference, Map<String, String> shapes) {
        OptionSpec option = command.getParseResult().matchedOption(OPTION);
        Set<String> names = new HashSet<>();
        for (String value : option == null ? List.<String>of() : option.originalStringValues()) {
            String name = value.substring(0, Math.max(0, value.indexOf('=')));
            if (!names.add(name)) {
                throw new ParameterException(command, OPTION + " " + name + "=… is given twice: a feed has one shape");
            }
        }
        LoadOptions options = inference ? LoadOptions.defaults().inference() : LoadOptions.defaults();
        try {
            for (Map.Entry<String, String> shape : shapes.entrySet()) {
                options = options.shape(shape.getKey(), parsed(shape.getKey(), shape.getValue()));
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command, String.valueOf(e.getMessage()), e);
        }
        return options;
    }
}
