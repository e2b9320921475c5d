/** The demonstration: one program over the running JDK's classes, as a plain loop ({@code SerialProgram}) and through the engine ({@code EngineProgram}). */
@NullMarked
package io.seriatim.cli.demo;

import org.jspecify.annotations.NullMarked;
