@NullMarked
package io.seriatim.cli.demo;

import org.jspecify.annotations.NullMarked;
