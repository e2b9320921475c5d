@NullMarked
package io.seriatim.cli.bench;

import org.jspecify.annotations.NullMarked;
