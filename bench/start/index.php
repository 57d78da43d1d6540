<?php

echo 'hello world';
