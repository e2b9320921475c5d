@NullMarked
package io.seriatim.cli.run;

import org.jspecify.annotations.NullMarked;
